public import Foundation

// What Core Data has and this library does not. The names are declared so that the compiler says what to use instead.

// MARK: Stores

/// A store that is written as a whole.
@available(
  *, unavailable,
  message: "Stores of other kinds are not supported. Use NSSQLiteStoreType or NSInMemoryStoreType."
)
open class NSAtomicStore: NSObject {}

/// A record of an atomic store.
@available(
  *, unavailable,
  message: "Stores of other kinds are not supported. Use NSSQLiteStoreType or NSInMemoryStoreType."
)
open class NSAtomicStoreCacheNode: NSObject {}

/// A store of an application's own kind.
@available(
  *, unavailable,
  message: "Stores of other kinds are not supported. Use NSSQLiteStoreType or NSInMemoryStoreType."
)
open class NSIncrementalStore: NSObject {}

/// A record of an incremental store.
@available(
  *, unavailable,
  message: "Stores of other kinds are not supported. Use NSSQLiteStoreType or NSInMemoryStoreType."
)
open class NSIncrementalStoreNode: NSObject {}

// MARK: Requests

/// A save, as a store of an application's own kind gets it.
@available(
  *, unavailable,
  message: "Stores of other kinds are not supported. Use NSSQLiteStoreType or NSInMemoryStoreType."
)
open class NSSaveChangesRequest: NSObject {}

// MARK: Spotlight

/// Exports objects to Spotlight.
@available(*, unavailable, message: "Linux has no Spotlight.")
open class NSCoreDataCoreSpotlightDelegate: NSObject {}
