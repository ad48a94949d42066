/// The IDs that a context made most recently.
///
/// Objects are mostly looked up in the order in which their IDs were made, for example in a list. Their order
/// in memory is different. Each ID therefore stores the object of the ID made four later, and a look-up
/// prefetches that object. A cache miss costs about three look-ups.
struct RecentIDs {
  private var ids: (NSManagedObjectID?, NSManagedObjectID?, NSManagedObjectID?, NSManagedObjectID?)

  mutating func follow(_ made: NSManagedObjectID) {
    ids.0?.follower = made.resident
    ids = (ids.1, ids.2, ids.3, made)
  }
}
