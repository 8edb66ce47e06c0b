require "test_helper"

class SailingTest < ActiveSupport::TestCase
  test "five minutes are not late" do
    assert_not Sailing.new(delay_minutes: 5).late?
  end
end
