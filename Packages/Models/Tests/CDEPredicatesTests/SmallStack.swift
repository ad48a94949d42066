import Foundation

/// Runs a body on a thread with the stack of a secondary thread on Apple's platforms. Other layers' tests link to this file.
func onSmallStack<Value>(bytes: Int = 512 << 10, _ body: @escaping () throws -> Value) throws -> Value {
  nonisolated(unsafe) let body = body
  // Guard: the caller waits while the thread uses the body.
  nonisolated(unsafe) var result: Result<Value, any Error>?
  // Guard: the semaphore orders the write before the read.
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    result = Result { try body() }
    done.signal()
  }
  thread.stackSize = bytes
  thread.start()
  done.wait()
  return try result!.get()
}
