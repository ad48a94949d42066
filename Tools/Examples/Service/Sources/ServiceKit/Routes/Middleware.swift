import CoreDataEvolution
import Hummingbird
import Metrics

/// Answers each error with a problem, and logs those that a client can't have caused.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do { return try await next(request, context) } catch {
      // A connection that is closed gets no answer.
      if error is CancellationError { throw error }
      let problem = Problem(error)
      if problem.status.code >= 500, problem.code != "overloaded" {
        context.logger.warning(
          "A request has failed.",
          metadata: [
            "method": "\(request.method)", "path": "\(request.uri.path)", "code": "\(problem.code)",
            "error": "\(error)",
          ])
      }
      return problem.response()
    }
  }
}

/// Counts requests, and measures the time until their answer begins.
struct MetricsMiddleware<Context: RequestContext>: RouterMiddleware {
  let metrics: any MetricsFactory

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    let start = ContinuousClock.now
    let response = try await next(request, context)
    // The route's pattern and not the address: a label for each object would need memory for each.
    let dimensions = [
      ("method", request.method.rawValue), ("route", context.endpointPath ?? "none"),
      ("status", "\(response.status.code)"),
    ]
    Metrics.Timer(label: "http_request", dimensions: dimensions, factory: metrics)
      .recordNanoseconds(Int64((ContinuousClock.now - start) / .nanoseconds(1)))
    return response
  }
}

/// Ends connections after an answer while the service stops, and answers new requests by 503.
struct DrainMiddleware<Context: RequestContext>: RouterMiddleware {
  let drain: Drain

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    var response = try await next(request, context)
    if drain.hasBegun { response.headers[.connection] = "close" }
    return response
  }
}
