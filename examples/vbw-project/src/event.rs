//! One line of the pantry file.

use crate::quantity::Quantity;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub time: u64,
    pub device: String,
    pub added: bool,
    pub quantity: String,
    pub item: String,
}

impl Event {
    /// Reads a line, or says that it is none.
    pub fn parse(line: &str) -> Option<Event> {
        let mut fields = line.splitn(5, '\t');
        let event = Event {
            time: fields.next()?.parse().ok()?,
            device: fields.next()?.to_owned(),
            added: fields.next()? == "+",
            quantity: fields.next()?.to_owned(),
            item: fields.next()?.to_owned(),
        };
        Quantity::parse(&event.quantity).map(|_| event)
    }

    /// The line as it stands in the file.
    pub fn line(&self) -> String {
        let sign = if self.added { "+" } else { "-" };
        format!(
            "{}\t{}\t{sign}\t{}\t{}",
            self.time, self.device, self.quantity, self.item
        )
    }
}
