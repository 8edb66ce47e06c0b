//! A model that plays a script, and remembers what it was sent.

use std::collections::VecDeque;
use std::io::BufReader;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use crate::apis::Api;
use crate::script::{MARK, Reply};
use crate::{apis, http};

/// A request has at least so many tools where an agent asks, and fewer where a client wants a title.
const MIN_TOOLS: usize = 4;

/// One request that reached the model.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Every text in it, one after the other.
    pub(crate) text: String,
    /// The names of the tools it offers.
    pub(crate) tools: Vec<String>,
    /// Whether it belongs to a conversation of the script, a subagent's among them.
    pub(crate) is_played: bool,
    /// Whether it belongs to a subagent.
    pub(crate) is_of_subagent: bool,
}

#[derive(Debug, Default)]
struct State {
    /// The replies that are still to be given.
    replies: VecDeque<Reply>,
    asked: Vec<Asked>,
}

/// The model, listening on the loopback until the test ends.
pub(crate) struct Model {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Model {
    /// Starts to listen.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(connection, &state));
            }
        });
        Self { address, state }
    }

    /// Plays a script from now on, and forgets what it was asked.
    pub(crate) fn play(&self, replies: Vec<Reply>) {
        *self.state.lock().unwrap() = State { replies: replies.into(), asked: Vec::new() };
    }

    /// Returns what the model was asked since then.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.state.lock().unwrap().asked.clone()
    }
}

fn serve(connection: TcpStream, state: &Mutex<State>) {
    let Ok(mut to) = connection.try_clone() else {
        return;
    };
    let mut from = BufReader::new(connection);
    let Ok(Some(request)) = http::read(&mut from) else {
        return;
    };
    let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let (kind, body) = match Api::from_path(&request.path) {
        Some(api) => {
            let (reply, id) = reply(&asked, state);
            api.answer(&asked, &request.path, &reply, &id)
        }
        // Token counts, lists of models and the like.
        None => ("application/json", "{\"totalTokens\": 1, \"input_tokens\": 1}".to_owned()),
    };
    // A client that hangs up does not want the answer.
    let _is_sent = http::answer(&mut to, kind, &body).is_ok();
}

fn reply(asked: &Value, state: &Mutex<State>) -> (Reply, String) {
    let mut text = String::new();
    let parts = ["system", "systemInstruction", "instructions", "messages", "input", "contents"];
    for part in parts {
        collect(&asked[part], &mut text);
    }
    let tools = apis::tools(asked);
    let is_played = tools.len() >= MIN_TOOLS && text.contains(MARK);
    let mut tool_texts = String::new();
    collect(&asked["tools"], &mut tool_texts);
    let mut state = state.lock().unwrap();
    let reply = if is_played {
        state.replies.pop_front().unwrap_or(Reply::Say("Nothing more."))
    } else {
        Reply::Say("A title")
    };
    let names = tools.into_iter().map(|tool| tool.name);
    state.asked.push(Asked {
        is_played,
        is_of_subagent: is_played && !text.contains(&format!("{MARK}, please")),
        tools: names.chain([text.clone(), tool_texts]).collect(),
        text,
    });
    let id = format!("id_{}", state.asked.len());
    (reply, id)
}

/// Collects every string in a value, each on lines of its own.
fn collect(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => {
            into.push_str(text);
            into.push('\n');
        }
        Value::Array(list) => list.iter().for_each(|one| collect(one, into)),
        Value::Object(object) => object.values().for_each(|one| collect(one, into)),
        _ => {}
    }
}
