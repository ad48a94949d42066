@_spi(CDE) internal import CDEExecutors

extension NSManagedObjectContext {
  /// Lets the context stamp a listener on its commits. From anywhere; each call is undone by one
  /// ``removeCommitListener(_:)``.
  @_spi(CDE) public func addCommitListener(_ listener: CommitListener) {
    configuration.withLock { $0.listeners.append(listener) }
  }

  /// Takes a listener back that was added once. Does nothing if the context does not have it. From anywhere.
  @_spi(CDE) public func removeCommitListener(_ listener: CommitListener) {
    configuration.withLock { configuration in
      guard let index = configuration.listeners.firstIndex(where: { $0 === listener }) else { return }
      configuration.listeners.remove(at: index)
    }
  }

  func makeCommitTrace() -> CommitTrace {
    CommitTrace(expecting: configuration.withLock { $0.listeners })
  }
}
