class Sailing < ApplicationRecord
  belongs_to :route

  scope :upcoming, ->(time) { where(departs_at: time..).order(:departs_at) }

  def late?
    delay_minutes > 5
  end
end
