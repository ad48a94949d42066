import Hummingbird

/// What those ask who run the service: does it live, may it get requests, how does it do.
struct OperationRoutes: Sendable {
  let store: ServiceStore
  let drain: Drain
  let metrics: PrometheusMetrics

  func add<Context: RequestContext>(to router: Router<Context>) {
    // The process answers. A store that does not is no reason to end it.
    router.get("/health/live") { _, _ in Self.text("alive\n") }
    router.get("/health/ready") { _, _ in
      if drain.hasBegun { throw Problem(Admission.Refusal.isClosed) }
      do { try await store.check() } catch {
        let problem = Problem(error)
        throw Problem.later("store", problem.detail)
      }
      return Self.text("ready\n")
    }
    router.get("/metrics") { _, _ in
      Self.text(metrics.text, "text/plain; version=0.0.4; charset=utf-8")
    }
  }

  private static func text(_ text: String, _ type: String = "text/plain; charset=utf-8") -> Response {
    Response(
      status: .ok, headers: [.contentType: type, .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }
}
