import Hummingbird

extension HTTPFields.Element.Name {
  static let lastEventID = Self("Last-Event-ID")!
  static let link = Self("Link")!
}
