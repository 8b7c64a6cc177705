//! Which peers may send to a bridge, and which may receive.

use std::collections::HashMap;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Error, Event, KeyPair, Pull, Push};

use crate::support::{GUARD, address, expect, expect_flushed, until, wait_for};

type Pusher = Push<spsc::Receiver<u64>>;

/// Whether a client with these credentials reaches a server with those; and what each is notified of if it does not.
fn reaches(
    where_to: &str,
    server: impl FnOnce(Pull<u64>) -> Pull<u64>,
    client: impl FnOnce(Pusher) -> Pusher,
) -> Result<(), Event> {
    let (pull, mut work) = server(Bridge::pull().bind(where_to)).start().unwrap();
    let (mut jobs, out) = spsc::bounded::<u64>(4);
    let push = client(Bridge::push(out).connect(address(&pull))).start().unwrap();
    jobs.send(1).unwrap();
    let decided = wait_for(&push.events(), |event| {
        matches!(event, Event::Connected(_) | Event::Refused(_) | Event::HandshakeFailed(_) | Event::Disconnected(_))
    });
    if !matches!(decided, Event::Connected(_)) {
        assert!(work.try_recv().is_err());
        return Err(decided);
    }
    expect(&mut work, 1..2);
    expect_flushed(push);
    Ok(())
}

#[test]
fn only_those_on_the_list_are_admitted() {
    let [server, friend, stranger] = [(); 3].map(|()| KeyPair::generate().unwrap());
    let open = |pull: Pull<u64>| pull.curve_server(server.clone(), [friend.public()]);
    for where_to in ["tcp://127.0.0.1:*", "ipc://*"] {
        assert_eq!(reaches(where_to, open, |push| push.curve(friend.clone(), server.public())), Ok(()));
        let refused = reaches(where_to, open, |push| push.curve(stranger.clone(), server.public()));
        assert!(matches!(refused, Err(Event::Refused(_))), "{refused:?}");
        // A server of another key than the client knows, and a client without any.
        reaches(where_to, open, |push| push.curve(friend.clone(), stranger.public())).unwrap_err();
        reaches(where_to, open, |push| push).unwrap_err();
        // A client that insists on security where there is none.
        reaches(where_to, |pull| pull, |push| push.curve(friend.clone(), server.public())).unwrap_err();
    }
}

#[test]
fn an_empty_list_admits_no_client() {
    let [server, friend] = [(); 2].map(|()| KeyPair::generate().unwrap());
    let refused = reaches(
        "tcp://127.0.0.1:*",
        |pull| pull.curve_server(server.clone(), []),
        |push| push.curve(friend, server.public()),
    );
    assert!(matches!(refused, Err(Event::Refused(_))), "{refused:?}");
}

/// Each server has a list of its own, though all are asked for by one gatekeeper.
#[test]
fn lists_are_not_shared() {
    let [server, ann, bob] = [(); 3].map(|()| KeyPair::generate().unwrap());
    let serve = |key: &KeyPair| {
        Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").curve_server(server.clone(), [key.public()]).start().unwrap()
    };
    let ((for_ann, mut at_ann), (for_bob, mut at_bob)) = (serve(&ann), serve(&bob));
    let send = |key: &KeyPair, to: &ysuite_zmq::Started| {
        let (mut jobs, out) = spsc::bounded::<u64>(4);
        let push = Bridge::push(out).connect(address(to)).curve(key.clone(), server.public()).start().unwrap();
        jobs.send(1).unwrap();
        (push, jobs)
    };
    let _sent = [send(&ann, &for_ann), send(&bob, &for_bob)];
    expect(&mut at_ann, 1..2);
    expect(&mut at_bob, 1..2);
    let (wrong, _) = send(&ann, &for_bob);
    wait_for(&wrong.events(), |event| matches!(event, Event::Refused(_)));
}

#[test]
fn passwords_go_over_tcp_only_on_request() {
    let users = || HashMap::from([("ann".to_owned(), "secret".to_owned())]);
    let plain = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").plain_server(users()).start();
    assert!(matches!(plain, Err(Error::PlainOverTcp { address }) if address == "tcp://127.0.0.1:*"));
    let (_jobs, out) = spsc::bounded::<u64>(1);
    let plain = Bridge::push(out).connect("tcp://127.0.0.1:1").plain("ann", "secret").start();
    assert!(matches!(plain, Err(Error::PlainOverTcp { .. })));

    let long = "x".repeat(256);
    for (name, password) in [("ann", ""), ("", "secret"), ("ann", &long), (&long, "secret")] {
        let (_jobs, out) = spsc::bounded::<u64>(1);
        let client = Bridge::push(out).connect("ipc:///nowhere").plain(name, password).start();
        assert!(matches!(client, Err(Error::Password)));
        let users = HashMap::from([("bob".to_owned(), "secret".to_owned()), (name.to_owned(), password.to_owned())]);
        let server = Bridge::pull::<u64>().bind("ipc://*").plain_server(users).start();
        assert!(matches!(server, Err(Error::Password)));
    }

    let (server, client) = (|pull: Pull<u64>| pull.plain_server(users()), |push: Pusher| push.plain("ann", "secret"));
    assert_eq!(reaches("ipc://*", server, client), Ok(()));
    let readable = (|pull| server(pull).plain_over_tcp(), |push| client(push).plain_over_tcp());
    assert_eq!(reaches("tcp://127.0.0.1:*", readable.0, readable.1), Ok(()));
    for (name, password) in [("ann", "Secret"), ("ann", "s"), ("bob", "secret")] {
        let refused = reaches("ipc://*", server, |push| push.plain(name, password));
        assert!(matches!(refused, Err(Event::Refused(_))), "{refused:?}");
    }
}

#[test]
fn a_duplex_is_secured_as_well() {
    let [server, client] = [(); 2].map(|()| KeyPair::generate().unwrap());
    let (mut answers, back) = spsc::bounded::<u64>(4);
    let there = Bridge::duplex::<_, u64>(back).bind("tcp://127.0.0.1:*");
    let (there, mut asked) = there.curve_server(server.clone(), [client.public()]).start().unwrap();
    let (mut questions, out) = spsc::bounded::<u64>(4);
    let here = Bridge::duplex::<_, u64>(out).connect(address(&there)).curve(client, server.public());
    let (here, mut answered) = here.start().unwrap();
    questions.send(1).unwrap();
    expect(&mut asked, 1..2);
    answers.send(2).unwrap();
    assert_eq!(answered.recv_timeout(GUARD), Ok(2));
    expect_flushed(here);
}

#[test]
fn keys_are_texts_of_forty_letters() {
    let pair = KeyPair::generate().unwrap();
    let again = KeyPair::from_secret(&pair.secret()).unwrap();
    assert_eq!(again.public(), pair.public());
    assert_eq!(pair.public().to_string().parse::<ysuite_zmq::PublicKey>().unwrap(), pair.public());
    assert_eq!(pair.public().to_string().len(), 40);
    assert!(!format!("{pair:?}").contains(&pair.secret()));
}

/// A key that is added to the list while the server runs: a client that was refused before is admitted, of every kind,
/// and both are notified.
///
/// Claim: A peer that was refused can connect when it is allowed later.
#[test]
fn a_refused_client_is_admitted_later() {
    const HERE: &str = "tcp://127.0.0.1:*";
    let [server, client] = [(); 2].map(|()| KeyPair::generate().unwrap());
    let known = server.public();
    let (mut clients, mut servers) = (Vec::new(), Vec::new());
    macro_rules! serve {
        ($builder:expr) => {
            $builder.bind(HERE).curve_server(server.clone(), []).start().unwrap()
        };
    }
    macro_rules! connect {
        ($builder:expr, $to:expr) => {
            $builder.connect(address(&$to)).curve(client.clone(), known).start().unwrap()
        };
    }
    let (pull, mut pulled) = serve!(Bridge::pull::<u64>());
    let (mut pushes, out) = spsc::bounded::<u64>(4);
    clients.push(connect!(Bridge::push(out), pull));
    let (mut gives, out) = spsc::bounded::<u64>(4);
    let push = serve!(Bridge::push(out));
    let (given, mut taken) = connect!(Bridge::pull::<u64>(), push);
    clients.push(given);
    let (mut news, out) = spsc::bounded::<u64>(4);
    let mut publish = serve!(Bridge::publish(out));
    let (heard, mut hears) = connect!(Bridge::subscribe::<u64>(), publish);
    clients.push(heard);
    let (subscribe, mut reads) = serve!(Bridge::subscribe::<u64>());
    let (mut tells, out) = spsc::bounded::<u64>(4);
    clients.push(connect!(Bridge::publish(out), subscribe));
    let (mut answers, out) = spsc::bounded::<u64>(4);
    let (there, mut asked) = serve!(Bridge::duplex::<_, u64>(out));
    let (mut asks, out) = spsc::bounded::<u64>(4);
    let (here, mut answered) = connect!(Bridge::duplex::<_, u64>(out), there);
    clients.push(here);
    [&mut pushes, &mut gives, &mut asks, &mut answers].into_iter().for_each(|jobs| jobs.send(1).unwrap());

    for client in &clients {
        let events = client.events();
        wait_for(&events, |event| matches!(event, Event::Refused(_)));
        // It tries again, and says so: more than once.
        wait_for(&events, |event| matches!(event, Event::Retrying(_)));
        wait_for(&events, |event| matches!(event, Event::Refused(_)));
    }
    assert!(pulled.try_recv().is_err() && taken.try_recv().is_err() && asked.try_recv().is_err());
    for server in [&pull, &push, &publish, &subscribe, &there] {
        server.admit_keys([client.public()]).unwrap();
    }
    expect(&mut pulled, 1..2);
    expect(&mut taken, 1..2);
    expect(&mut asked, 1..2);
    expect(&mut answered, 1..2);
    assert!(publish.wait_for_subscribers(1, GUARD));
    news.send(1).unwrap();
    expect(&mut hears, 1..2);
    let mut telling = clients.remove(3);
    assert!(telling.wait_for_subscribers(1, GUARD));
    tells.send(1).unwrap();
    expect(&mut reads, 1..2);
    servers.extend([pull, push, publish, subscribe, there]);

    // A client that is removed from the list is not admitted any more, though existing connections stay.
    servers[0].admit_keys([]).unwrap();
    pushes.send(2).unwrap();
    expect(&mut pulled, 2..3);
    let (_jobs, out) = spsc::bounded::<u64>(4);
    let late = connect!(Bridge::push(out), servers[0]);
    wait_for(&late.events(), |event| matches!(event, Event::Refused(_)));
}

#[test]
fn lists_are_for_those_that_have_one() {
    let key = KeyPair::generate().unwrap();
    let users = HashMap::from([("ann".to_owned(), "secret".to_owned())]);
    let (open, _work) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").start().unwrap();
    let curve = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").curve_server(key.clone(), []);
    let (curve, _work) = curve.start().unwrap();
    let plain = Bridge::pull::<u64>().bind("ipc://*").plain_server(HashMap::new());
    let (plain, mut work) = plain.start().unwrap();
    for server in [&open, &plain] {
        assert!(matches!(server.admit_keys([key.public()]), Err(Error::NotServer)));
    }
    for server in [&open, &curve] {
        assert!(matches!(server.admit_users(users.clone()), Err(Error::NotServer)));
    }
    curve.admit_keys([key.public()]).unwrap();
    let nameless = HashMap::from([(String::new(), "secret".to_owned())]);
    assert!(matches!(plain.admit_users(nameless), Err(Error::Password)));
    let (mut jobs, out) = spsc::bounded::<u64>(4);
    let push = Bridge::push(out).connect(address(&plain)).plain("ann", "secret").start().unwrap();
    wait_for(&push.events(), |event| matches!(event, Event::Refused(_)));
    plain.admit_users(users).unwrap();
    jobs.send(1).unwrap();
    expect(&mut work, 1..2);
}

/// Another program had the port for a while: what waits goes to the bridge that has it then.
#[test]
fn another_program_is_waited_out() {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let there = format!("tcp://{}", listener.local_addr().unwrap());
    let (mut jobs, out) = spsc::bounded::<u64>(100);
    let push = Bridge::push(out).connect(&*there).start().unwrap();
    (0..100).for_each(|number| jobs.send(number).unwrap());
    for _ in 0..2 {
        let mut stream = None;
        until("the bridge tries again", || {
            stream = listener.accept().ok();
            stream.is_some()
        });
        let (mut stream, _) = stream.expect("a connection");
        stream.set_nonblocking(false).unwrap();
        stream.write_all(b"SSH-2.0-OpenSSH_9.6\r\n").unwrap();
        stream.set_read_timeout(Some(GUARD)).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    }
    drop(listener);
    let (_pull, mut work) = Bridge::pull::<u64>().bind(there).start().unwrap();
    expect(&mut work, 0..100);
    expect_flushed(push);
}
