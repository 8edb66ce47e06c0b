namespace :import do
  task sailings: :environment do
    Timetable::Import.call(ENV.fetch("TIMETABLE"))
  end
end
