//! Selects the source of vectors in a run: the built-in table or an endpoint.

use crate::embedding::remote::Endpoint;
use crate::embedding::table::{MODEL_ID, VectorTable};
use crate::embedding::vector::Vector;
use crate::error::Result;

/// Computes the vectors of texts.
#[derive(Clone, Debug, Default)]
pub enum Embedder {
    /// The table built into the program: takes microseconds per text, and no data leaves the machine.
    #[default]
    BuiltIn,
    /// A remote endpoint.
    Remote(Endpoint),
}

impl Embedder {
    /// Returns the model name stored with each vector: only vectors of the same model are comparable.
    pub fn model(&self) -> String {
        match self {
            Self::BuiltIn => MODEL_ID.to_owned(),
            Self::Remote(endpoint) => format!("endpoint:{}", endpoint.model),
        }
    }

    /// Returns whether the built-in table is used, so that vectors take only microseconds.
    pub fn is_built_in(&self) -> bool {
        matches!(self, Self::BuiltIn)
    }

    /// Returns the vectors of the texts, in their order.
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
                // The endpoint's answer was checked to contain one vector per text.
                Ok(vectors.into_iter().next().unwrap_or_else(|| Vector::new(Vec::new())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_needs_no_endpoint() {
        let embedder = Embedder::default();
        assert!(embedder.is_built_in());
        assert_eq!(embedder.model(), "annals-static-128-v1");
        let vectors = embedder.vectors(&["one", "two"]).unwrap();
        assert_eq!(vectors[1], embedder.vector("two").unwrap());
        assert_eq!(embedder.vectors(&[]).unwrap(), []);
    }
}
