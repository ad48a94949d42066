@_spi(CDE) internal import CDEExecutors

extension NSManagedObjectContext {
  /// Adds a listener to the commits of this context. May be called from any isolation. Each call is undone by
  /// one call of ``removeCommitListener(_:)``.
  @_spi(CDE) public func addCommitListener(_ listener: CommitListener) {
    configuration.withLock { $0.listeners.append(listener) }
  }

  /// Undoes one call of ``addCommitListener(_:)``. Does nothing if the context does not have the listener.
  /// May be called from any isolation.
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
