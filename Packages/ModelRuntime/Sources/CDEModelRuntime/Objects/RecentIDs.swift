/// The IDs that a context made last.
///
/// Objects are mostly looked up in the order in which their IDs were taken, a list's say, but lie in memory in
/// another. So each ID remembers the object of the one made four later, and a look-up has that on its way from
/// memory before it is asked for: three look-ups take about as long as it does.
struct RecentIDs {
  private var ids: (NSManagedObjectID?, NSManagedObjectID?, NSManagedObjectID?, NSManagedObjectID?)

  mutating func follow(_ made: NSManagedObjectID) {
    ids.0?.follower = made.resident
    ids = (ids.1, ids.2, ids.3, made)
  }
}
