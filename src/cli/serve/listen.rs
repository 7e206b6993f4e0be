//! Connections: taken in, each with its bounds, and let go of in order when the server ends.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

/// How many connections there may be at once; more wait to be taken in.
const MOST: usize = 8192;

/// How long the head of a request may take.
const SLOWEST: Duration = Duration::from_secs(15);

/// How much of a head there may be.
const LARGEST_HEAD: usize = 32 * 1024;
const MOST_HEADERS: usize = 64;

/// How long connections get to end by themselves.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves until it is to close.
pub async fn serve(listener: TcpListener, router: Router, mut closing: watch::Receiver<bool>) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(SLOWEST)
        .max_buf_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS);
    let room = Arc::new(Semaphore::new(MOST));
    let open = GracefulShutdown::new();
    loop {
        let take = async {
            let place = Arc::clone(&room).acquire_owned().await;
            (place, listener.accept().await)
        };
        let taken = tokio::select! {
            taken = take => taken,
            _ = closing.wait_for(|closing| *closing) => break,
        };
        let (Ok(place), Ok((stream, _))) = taken else {
            // Out of descriptors, perhaps: some will be free again.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Answers are small and awaited.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let served = open.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // A connection that breaks is its client's matter.
            let _ = served.await;
            drop(place);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(PATIENCE, open.shutdown()).await;
}

/// Waits until the process is told to end.
pub async fn told_to_end() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
        let _ = tokio::signal::ctrl_c().await;
    }
    #[cfg(not(unix))]
    let _ = interrupted.await;
}
