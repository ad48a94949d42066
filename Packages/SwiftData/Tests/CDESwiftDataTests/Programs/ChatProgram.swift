import CDESwiftData
import Testing

@Model
final class Conversation {
  var topic: String
  @Relationship(deleteRule: .cascade, inverse: \Message.conversation) var messages: [Message] = []
  init(topic: String) { self.topic = topic }
}

@Model
final class Message {
  #Index<Message>([\.sentAt])
  var text: String
  var sentAt: Date
  var isRead: Bool
  var conversation: Conversation?
  init(_ text: String, at sentAt: Date, isRead: Bool = false) {
    self.text = text
    self.sentAt = sentAt
    self.isRead = isRead
  }
}

@Suite("A chat with many messages")
struct ChatProgram {
  let context: ModelContext
  let count = 5_000

  init() throws {
    context = ModelContext(
      try ModelContainer(
        for: Conversation.self, Message.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    let chat = Conversation(topic: "Swift")
    context.insert(chat)
    for number in 0..<count {
      let message = Message("Message \(number)", at: Date(timeIntervalSinceReferenceDate: Double(number)))
      message.conversation = chat
    }
    try context.save()
  }

  @Test("Messages are enumerated in batches")
  func enumerating() throws {
    var seen = 0
    try context.enumerate(
      FetchDescriptor<Message>(sortBy: [SortDescriptor(\.sentAt)]), batchSize: 1_000
    ) { message in
      #expect(message.text == "Message \(seen)")
      seen += 1
    }
    #expect(seen == count)
  }

  @Test("Messages are marked as read while they are enumerated")
  func mutating() throws {
    try context.enumerate(FetchDescriptor<Message>(), batchSize: 500, allowEscapingMutations: true) {
      $0.isRead = true
    }
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Message>(predicate: #Predicate { !$0.isRead })) == 0)
  }

  @Test("Old messages are deleted by a condition")
  func deleting() throws {
    let limit = Date(timeIntervalSinceReferenceDate: 4_000)
    try context.delete(model: Message.self, where: #Predicate { $0.sentAt < limit })
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Message>()) == 1_000)
    try context.delete(model: Conversation.self)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Message>()) == 0)
  }

  @Test("Messages are appended to a long conversation")
  func appending() throws {
    let chat = try #require(try context.fetch(FetchDescriptor<Conversation>()).first)
    for number in 0..<100 { chat.messages.append(Message("More \(number)", at: .now)) }
    try context.save()
    #expect(chat.messages.count == count + 100)
    #expect(chat.messages.last?.text == "More 99")
  }
}
