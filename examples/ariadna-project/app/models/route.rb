class Route < ApplicationRecord
  has_many :sailings
end
