//! What makes vectors in a run: the built-in table, or an endpoint.

use crate::embedding::remote::Endpoint;
use crate::embedding::table::MODEL_ID;
use crate::embedding::table::VectorTable;
use crate::embedding::vector::Vector;
use crate::error::Result;

/// Makes vectors of texts.
#[derive(Clone, Debug, Default)]
pub enum Embedder {
    /// With the table in the program: microseconds a text, and nothing leaves the machine.
    #[default]
    BuiltIn,
    /// By asking an endpoint.
    Remote(Endpoint),
}

impl Embedder {
    /// Returns the name that is stored with each vector: only vectors of one name compare.
    pub fn model(&self) -> String {
        match self {
            Self::BuiltIn => MODEL_ID.to_owned(),
            Self::Remote(endpoint) => format!("endpoint:{}", endpoint.model),
        }
    }

    /// Returns whether vectors cost nothing but microseconds.
    pub fn is_built_in(&self) -> bool {
        matches!(self, Self::BuiltIn)
    }

    /// Returns the vector of each text, in their order.
    pub fn vectors(&self, texts: &[&str]) -> Result<Vec<Vector>> {
        match self {
            Self::BuiltIn => {
                let table = VectorTable::built_in();
                Ok(texts.iter().map(|text| table.vector(text)).collect())
            }
            Self::Remote(endpoint) => endpoint.vectors(texts),
        }
    }

    /// Returns the vector of one text.
    pub fn vector(&self, text: &str) -> Result<Vector> {
        match self {
            Self::BuiltIn => Ok(VectorTable::built_in().vector(text)),
            Self::Remote(endpoint) => {
                let vectors = endpoint.vectors(&[text])?;
                // The endpoint's answer was checked to hold one vector a text.
                Ok(vectors
                    .into_iter()
                    .next()
                    .unwrap_or_else(|| Vector::new(Vec::new())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_in_the_program_needs_nothing_else() {
        let embedder = Embedder::default();
        assert!(embedder.is_built_in());
        assert_eq!(embedder.model(), "annals-static-128-v1");
        let vectors = embedder.vectors(&["one", "two"]).unwrap();
        assert_eq!(vectors[1], embedder.vector("two").unwrap());
        assert_eq!(embedder.vectors(&[]).unwrap(), []);
    }
}
