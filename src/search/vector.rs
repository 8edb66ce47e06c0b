//! Vectors, their quantised form for storage, and where a run gets them: from the built-in table, or an endpoint.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use crate::error::{Error, Result};
use crate::search::rank::passages;
use crate::search::table::{MODEL_ID, VectorTable};
use crate::service::Service;

/// Number of partial sums: they are added in parallel by SIMD instructions, in the same order on every
/// processor.
const LANES: usize = 8;

/// The embedding of a text: a vector of length 1, or of zeros if none of its words is in the vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector(Vec<f32>);

impl Vector {
    /// Returns the vector in this direction with length 1.
    pub fn new(mut values: Vec<f32>) -> Self {
        let length = dot(&values, &values).sqrt();
        if length.is_normal() {
            for value in &mut values {
                *value /= length;
            }
        } else {
            values.fill(0.0);
        }
        Self(values)
    }

    /// Returns the mean of vectors of one dimension, with length 1.
    pub fn mean(vectors: impl Iterator<Item = Self>) -> Self {
        let sum = vectors.reduce(|mut sum, vector| {
            sum.0.iter_mut().zip(&vector.0).for_each(|(sum, value)| *sum += value);
            sum
        });
        Self::new(sum.map_or_else(Vec::new, |sum| sum.0))
    }

    /// Returns the components.
    pub fn values(&self) -> &[f32] {
        &self.0
    }

    /// Returns whether no word of the text is in the vocabulary.
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|value| *value == 0.0)
    }

    /// Returns the cosine similarity of two texts, from -1 to 1.
    pub fn dot(&self, other: &Self) -> f32 {
        dot(&self.0, &other.0)
    }

    /// Returns the vector with one byte per component.
    pub fn quantized(&self) -> Quantized {
        Quantized::concatenated(std::slice::from_ref(self))
    }
}

/// A quantised vector: each component is a byte times the scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quantized {
    /// Factor of every component.
    pub scale: f32,
    /// The components as signed bytes, as they are stored.
    pub values: Vec<u8>,
}

impl Quantized {
    /// Returns the concatenation of several vectors of the same length with a common scale.
    pub fn concatenated(vectors: &[Vector]) -> Self {
        let values = || vectors.iter().flat_map(|vector| &vector.0);
        let largest = values().fold(0.0_f32, |most, value| most.max(value.abs()));
        let scale = largest / f32::from(i8::MAX);
        let values = values().map(|value| rounded(value / scale).cast_unsigned()).collect();
        Self { scale, values }
    }

    /// Returns the cosine similarity to stored components with their scale, from -1 to 1, up to the rounding error.
    pub fn dot(&self, values: &[u8], scale: f32) -> f32 {
        let products = self.values.iter().zip(values);
        let sum: i32 = products
            .map(|(one, other)| i32::from(one.cast_signed()) * i32::from(other.cast_signed()))
            .sum();
        to_f32(sum) * self.scale * scale
    }
}

/// Returns the dot product, summed in a fixed order, so that equal texts get equal vectors on every
/// processor.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.chunks(LANES).zip(b.chunks(LANES)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

#[expect(clippy::cast_possible_truncation, reason = "the value is at most 127, and NaN becomes 0")]
fn rounded(value: f32) -> i8 {
    value.round() as i8
}

#[expect(
    clippy::cast_precision_loss,
    reason = "rounding in the eighth digit makes no meaningful difference"
)]
fn to_f32(sum: i32) -> f32 {
    sum as f32
}

/// Maximum number of texts in one request.
const MAX_BATCH: usize = 64;

/// Computes the vectors of texts.
#[derive(Debug, Default)]
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
                Ok(texts.iter().map(|text| table.mean_vector(&passages(text))).collect())
            }
            // A text may be longer than the model reads.
            Self::Remote(endpoint) => {
                let parts: Vec<Vec<&str>> = texts.iter().map(|text| passages(text)).collect();
                let mut vectors = endpoint.vectors(&parts.concat())?.into_iter();
                let mean = |parts: &Vec<&str>| Vector::mean(vectors.by_ref().take(parts.len()));
                Ok(parts.iter().map(mean).collect())
            }
        }
    }

    /// Returns the vector of one text.
    pub fn vector(&self, text: &str) -> Result<Vector> {
        // There is one vector for each text.
        Ok(self.vectors(&[text])?.pop().unwrap_or_else(|| Vector::new(Vec::new())))
    }
}

/// A server that computes vectors, with its timeout.
#[derive(Debug)]
pub struct Endpoint {
    /// The service at the base address; requests go to `/embeddings` below it.
    service: Service,
    /// Name of the requested model.
    pub model: String,
    /// Timeout of one request, from the first byte sent to the last byte received.
    pub deadline: Duration,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    data: Vec<ResponseItem>,
}

#[derive(Deserialize)]
struct ResponseItem {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Endpoint {
    /// Returns the endpoint at a base address; the key is passed in because only the interfaces read the
    /// environment.
    pub fn new(url: &str, model: &str, key: Option<String>, deadline: Duration) -> Result<Self> {
        let base = url.trim_end_matches('/').trim_end_matches("/embeddings");
        let mut service = Service::new("embedding.url", base)?;
        if let Some(key) = key {
            service = service.with_key(key);
        }
        Ok(Self { service, model: model.to_owned(), deadline })
    }

    /// Returns the vectors of the texts, in their order and all of the same dimension.
    pub fn vectors(&self, texts: &[&str]) -> Result<Vec<Vector>> {
        let mut vectors: Vec<Vector> = Vec::with_capacity(texts.len());
        for batch in texts.chunks(MAX_BATCH) {
            let response = self.request(batch)?;
            vectors.extend(self.in_order(response, batch.len())?);
        }
        if vectors.iter().any(|vector| vector.0.len() != vectors[0].0.len()) {
            return Err(self.unexpected("vectors of different lengths"));
        }
        Ok(vectors)
    }

    fn request(&self, texts: &[&str]) -> Result<Response> {
        let request = json!({"model": self.model, "input": texts, "encoding_format": "float"});
        let response = self
            .service
            .post("/embeddings", &request, self.deadline)
            .map_err(|error| endpoint_failed(&error))?;
        serde_json::from_value(response).map_err(|error| {
            self.unexpected(&format!("something other than a list of vectors: {error}"))
        })
    }

    /// Returns the vectors in the order of the texts, one for each.
    fn in_order(&self, mut response: Response, texts: usize) -> Result<Vec<Vector>> {
        if response.data.len() != texts {
            let message = format!("{} vectors for {texts} texts", response.data.len());
            return Err(self.unexpected(&message));
        }
        response.data.sort_by_key(|item| item.index);
        // Without indexes, they are in the order of the texts.
        let mut numbered = response.data.iter().enumerate();
        if !numbered.all(|(at, item)| item.index.is_none_or(|index| index == at)) {
            return Err(self.unexpected("two vectors for one text"));
        }
        let vectors = response.data.into_iter().map(|item| item.embedding);
        let is_valid =
            |vector: &Vec<f32>| !vector.is_empty() && vector.iter().all(|value| value.is_finite());
        vectors
            .map(|vector| match is_valid(&vector) {
                true => Ok(Vector::new(vector)),
                false => Err(self.unexpected("an empty or non-finite vector")),
            })
            .collect()
    }

    fn unexpected(&self, content: &str) -> Error {
        endpoint_failed(&self.service.failed(&format!("answered with {content}")))
    }
}

fn endpoint_failed(error: &Error) -> Error {
    Error::failed(format!("the embedding endpoint {}", error.message)).hint(
        "check embedding.url and embedding.model, and ANNALS_EMBEDDING_API_KEY if it asks for a key",
    )
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;
    use std::thread::JoinHandle;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn vectors_have_length_one_or_zero() {
        let vector = Vector::new(vec![3.0, 4.0]);
        assert_eq!(vector.values(), [0.6, 0.8]);
        assert!((vector.dot(&vector) - 1.0).abs() < 1e-6);
        for nothing in [vec![], vec![0.0; 3], vec![f32::NAN, 1.0], vec![f32::INFINITY]] {
            let vector = Vector::new(nothing);
            assert!(vector.is_zero());
            assert!(vector.quantized().values.iter().all(|value| *value == 0));
            assert!(vector.quantized().scale.abs() < f32::MIN_POSITIVE);
        }
    }

    #[test]
    fn stored_bytes_yield_the_same_similarity() {
        let (one, other) = (Vector::new(vec![1.0, -2.0]), Vector::new(vec![-1.0, 2.0]));
        let stored = other.quantized();
        let near = one.quantized().dot(&stored.values, stored.scale);
        assert!((near + 1.0).abs() < 0.01, "{near}");
    }

    proptest! {
        #[test]
        fn quantisation_preserves_the_similarity(
            one in prop::collection::vec(-1.0_f32..1.0, 64),
            other in prop::collection::vec(-1.0_f32..1.0, 64),
        ) {
            let (one, other) = (Vector::new(one), Vector::new(other));
            let stored = other.quantized();
            let near = one.quantized().dot(&stored.values, stored.scale);
            prop_assert!((near - one.dot(&other)).abs() < 0.02);
        }
    }

    /// Answers one request with these bytes, and returns the request.
    fn server(answer: String) -> (String, JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/", listener.local_addr().unwrap());
        let asked = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            loop {
                let read = stream.read(&mut buffer).unwrap();
                request.extend_from_slice(&buffer[..read]);
                let text = String::from_utf8_lossy(&request);
                // The body is a single JSON object, which ends the request.
                if read == 0 || text.ends_with('}') {
                    break;
                }
            }
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8(request).unwrap()
        });
        (url, asked)
    }

    fn answering(status: &str, body: &str) -> (String, JoinHandle<String>) {
        let length = body.len();
        server(format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        ))
    }

    fn endpoint(url: &str) -> Endpoint {
        let deadline = Duration::from_secs(20);
        Endpoint::new(url, "small", Some("s3cret".to_owned()), deadline).unwrap()
    }

    #[test]
    fn vectors_are_in_the_order_of_the_texts() {
        let body = r#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}]}"#;
        let (url, asked) = answering("200 OK", body);
        let vectors = endpoint(&url).vectors(&["one", "two"]).unwrap();
        assert_eq!(vectors[0].values(), [0.6, 0.8]);
        assert_eq!(vectors[1].values(), [0.0, 1.0]);
        let asked = asked.join().unwrap();
        assert!(asked.starts_with("POST /v1/embeddings HTTP/1.1"), "{asked}");
        assert!(asked.to_lowercase().contains("authorization: bearer s3cret"), "{asked}");
        assert!(
            asked.ends_with(r#"{"model":"small","input":["one","two"],"encoding_format":"float"}"#)
        );
    }

    #[test]
    fn no_vector_is_taken_for_that_of_another_text() {
        let items = |indexes: [&str; 3]| {
            let item = |index| format!(r#"{{{index}"embedding":[1]}}"#);
            format!(r#"{{"data":[{}]}}"#, indexes.map(item).join(","))
        };
        for (indexes, is_read) in [
            (["", "", ""], true),
            ([r#""index":0,"#, r#""index":0,"#, r#""index":2,"#], false),
            ([r#""index":0,"#, r#""index":0,"#, r#""index":0,"#], false),
        ] {
            let (url, asked) = answering("200 OK", &items(indexes));
            assert_eq!(endpoint(&url).vectors(&["a", "b", "c"]).is_ok(), is_read, "{indexes:?}");
            asked.join().unwrap();
        }
    }

    #[test]
    fn unexpected_responses_are_errors_without_the_key() {
        for (status, body, expected) in [
            ("401 Unauthorized", "bad key s3cret", "status 401: bad key [key]"),
            ("200 OK", "<html>", "other than JSON"),
            ("200 OK", "1", "something other than a list of vectors"),
            ("200 OK", "{}", "0 vectors for 1 texts"),
            ("200 OK", r#"{"data":[{"embedding":[]}]}"#, "an empty or non-finite vector"),
            ("200 OK", r#"{"data":[{"index":7,"embedding":[1]}]}"#, "two vectors for one text"),
            ("307 Temporary Redirect", "", "status 307"),
        ] {
            let (url, asked) = answering(status, body);
            let error = endpoint(&url).vectors(&["one"]).unwrap_err();
            assert!(error.message.contains(expected), "{}", error.message);
            assert!(!format!("{error:?}").contains("s3cret"));
            asked.join().unwrap();
        }
        assert!(!format!("{:?}", endpoint("http://[::1]")).contains("s3cret"));
    }

    #[test]
    fn an_unresponsive_or_missing_server_is_an_error_before_the_deadline() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut silent = endpoint(&url);
        silent.deadline = Duration::from_millis(50);
        let error = silent.vectors(&["one"]).unwrap_err();
        assert!(error.message.contains("did not respond within 0.05 s"), "{}", error.message);
        drop(listener);
        let error = endpoint(&url).vectors(&["one"]).unwrap_err();
        assert!(error.message.contains("cannot be reached"), "{}", error.message);
        assert_eq!(endpoint(&url).vectors(&[]).unwrap(), []);
    }

    #[test]
    fn only_http_urls_are_accepted() {
        for url in ["", "http://", "file:///etc/passwd", "localhost:11434"] {
            let made = Endpoint::new(url, "m", None, Duration::from_secs(1));
            assert!(made.is_err(), "{url}");
        }
        let kept = endpoint("https://example.org/v1/embeddings");
        assert_eq!(kept.service.url(), "https://example.org/v1");
    }
}
