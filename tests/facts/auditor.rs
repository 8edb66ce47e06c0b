//! Stage 3: a model is asked over HTTP, and whatever it does, a turn is judged by the schema or not at all.

use std::net::TcpListener;
use std::time::Duration;

use annals::error::Error;
use annals::facts;
use annals::facts::{ActionOutcome, Auditor, Endpoint, TurnOutcome, TurnStatus};
use annals::project::Api;
use serde_json::{Value, json};

use crate::facts::server::Server;
use crate::facts::{Desk, TEA, tea};
use crate::support::Case;

fn auditor(url: &str, api: Api) -> Auditor {
    let key = Some("s3cret-key".to_owned());
    Auditor::Endpoint(Endpoint::new(url, api, Some("small"), key).unwrap())
}

/// What a server of chat completions sends, beside the text all that real ones send along.
fn chat(text: &str) -> String {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_772_000_000, "model": "small",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text, "refusal": null},
            "logprobs": null, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21},
    })
    .to_string()
}

fn message(text: &str) -> String {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "small",
        "content": [{"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "text": text}],
        "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 9, "output_tokens": 12},
    })
    .to_string()
}

fn queued() -> Desk {
    let mut desk = Desk::new();
    desk.observe(&tea("a"));
    desk
}

fn step(desk: &mut Desk, auditor: &Auditor, wait: Option<Duration>) -> TurnOutcome {
    desk.step(auditor, &[], wait).unwrap()
}

fn failure(step: TurnOutcome) -> Error {
    let TurnOutcome::Failed(_, error) = step else { panic!("{step:?}") };
    error
}

fn body(request: &str) -> Value {
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

#[test]
fn chat_completions_are_asked_with_the_prompt_the_model_and_the_key() {
    let mut desk = queued();
    let server = Server::answering(vec![("200 OK", chat(TEA))]);
    let auditor = auditor(&format!("{}/v1", server.url), Api::OpenAi);
    let TurnOutcome::Judged(judged) = step(&mut desk, &auditor, None) else { panic!() };
    assert_eq!(judged.applied[0].outcome, ActionOutcome::Inserted);
    let asked = server.asked().remove(0);
    assert!(asked.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{asked}");
    assert!(asked.to_lowercase().contains("authorization: bearer s3cret-key\r\n"));
    let body = body(&asked);
    assert_eq!((&body["model"], &body["stream"]), (&json!("small"), &json!(false)));
    let prompt = body["messages"][0]["content"].as_str().unwrap();
    assert!(prompt.contains("I like tea"), "{prompt}");
    desk.sound();
}

#[test]
fn messages_are_asked_in_their_own_shape() {
    let mut desk = queued();
    let server = Server::answering(vec![("200 OK", message(TEA))]);
    let auditor = auditor(&server.url, Api::Anthropic);
    assert!(matches!(step(&mut desk, &auditor, None), TurnOutcome::Judged(_)));
    let asked = server.asked().remove(0);
    assert!(asked.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{asked}");
    let head = asked.to_lowercase();
    assert!(head.contains("x-api-key: s3cret-key\r\n") && !head.contains("authorization:"));
    assert!(head.contains("anthropic-version: 2023-06-01\r\n"));
    assert!(body(&asked)["max_tokens"].as_u64().unwrap() > 1000);
}

#[test]
fn what_is_off_the_schema_is_asked_again_with_the_error() {
    let mut desk = queued();
    let off = r#"{"actions": [{"type": "delete", "key": "likes[]", "confidence_delta": 0, "reason": ""}]}"#;
    let server = Server::answering(vec![("200 OK", chat(off)), ("200 OK", chat(TEA))]);
    let auditor = auditor(&server.url, Api::OpenAi);
    assert!(matches!(step(&mut desk, &auditor, None), TurnOutcome::Judged(_)));
    let asked = server.asked();
    let again = body(&asked[1])["messages"][0]["content"].to_string();
    assert!(again.contains("Your last answer could not be used"), "{again}");
    assert!(again.contains("is not one of"), "{again}");
    assert!(!asked[0].contains("could not be used"));
}

#[test]
fn three_unusable_answers_and_the_turn_is_dead_with_the_last_one_kept() {
    for (api, first, last) in [
        (Api::OpenAi, chat("Sure!"), chat("As I said: nothing changed.")),
        (Api::Anthropic, message("Sure!"), message("As I said: nothing changed.")),
    ] {
        let mut desk = queued();
        let refusal = ("200 OK", first);
        let server = Server::answering(vec![refusal.clone(), refusal, ("200 OK", last)]);
        let auditor = auditor(&server.url, api);
        assert!(matches!(step(&mut desk, &auditor, None), TurnOutcome::Dead(..)));
        assert_eq!(server.asked().len(), 3);
        let turn = facts::find_turn(&desk.facts, &desk.user, "a").unwrap();
        assert_eq!(turn.status, TurnStatus::Dead);
        assert_eq!(turn.raw_answer.as_deref(), Some("As I said: nothing changed."));
        assert!(desk.all().is_empty());
    }
}

#[test]
fn a_failing_server_is_told_asked_once_and_the_turn_stays() {
    for (status, body, said) in [
        (
            "401 Unauthorized",
            r#"{"error": {"message": "bad key s3cret-key"}}"#,
            "status 401: {\"error\": {\"message\": \"bad key [key]\"}}",
        ),
        ("429 Too Many Requests", "slow down", "status 429: slow down"),
        ("500 Internal Server Error", "", "status 500"),
        ("302 Found", "", "status 302"),
        ("200 OK", "<html>", "other than JSON"),
        ("200 OK", "{\"choices\": []}", "a valid openai answer"),
        ("200 OK", "[]", "a valid openai answer"),
    ] {
        let mut desk = queued();
        let server = Server::answering(vec![(status, body.to_owned())]);
        let error = failure(step(&mut desk, &auditor(&server.url, Api::OpenAi), None));
        assert!(error.message.contains(said), "{}", error.message);
        assert!(!format!("{error:?}").contains("s3cret-key"));
        assert_eq!(server.asked().len(), 1);
        let turn = facts::find_turn(&desk.facts, &desk.user, "a").unwrap();
        assert_eq!(turn.status, TurnStatus::Pending);
        assert!(turn.last_error.unwrap().contains("the auditor's endpoint at http://"));
    }
}

#[test]
fn a_server_that_is_silent_or_away_is_given_up_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut desk = queued();
    let wait = Some(Duration::from_millis(50));
    let error = failure(step(&mut desk, &auditor(&url, Api::OpenAi), wait));
    assert!(error.message.ends_with("did not respond within 0.05 s"), "{error}");
    drop(listener);
    let error = failure(step(&mut desk, &auditor(&url, Api::OpenAi), None));
    assert!(error.message.contains("cannot be reached"), "{error}");
}

#[test]
fn the_worker_asks_the_endpoint_of_the_settings_with_the_key_of_the_environment() {
    let case = Case::empty();
    case.run("facts observe --user ada")
        .stdin(r#"{"user_input": "I like tea", "turn_id": "a"}"#)
        .success();
    let server = Server::answering(vec![("200 OK", message(TEA))]);
    let done = case
        .run("facts work --json")
        .env("ANNALS_LLM_URL", &server.url)
        .env("ANNALS_LLM_API", "anthropic")
        .env("ANNALS_LLM_MODEL", "small")
        .env("ANNALS_LLM_API_KEY", "s3cret-key")
        .success()
        .json();
    assert_eq!(done["judged"][0]["applied"][0]["outcome"], "inserted");
    assert!(server.asked()[0].contains("s3cret-key"));
    let wrong = case.run("facts work").env("ANNALS_LLM_URL", "http://127.0.0.1:9").code(2);
    assert!(wrong.stderr().contains("llm.model is not"), "{}", wrong.report());
}
