import CDESwiftData
import Testing

@Model
final class Contact: Codable {
  enum CodingKeys: CodingKey { case id, firstName, lastName, emails, company }

  var id: UUID
  var firstName: String
  var lastName: String
  var emails: [String]
  @Relationship(inverse: \Company.employees) var company: Company?

  var fullName: String { "\(firstName) \(lastName)" }

  init(id: UUID = UUID(), firstName: String, lastName: String, emails: [String] = []) {
    self.id = id
    self.firstName = firstName
    self.lastName = lastName
    self.emails = emails
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(UUID.self, forKey: .id)
    firstName = try container.decode(String.self, forKey: .firstName)
    lastName = try container.decode(String.self, forKey: .lastName)
    emails = try container.decodeIfPresent([String].self, forKey: .emails) ?? []
    if let name = try container.decodeIfPresent(String.self, forKey: .company) {
      company = Company(name: name)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(firstName, forKey: .firstName)
    try container.encode(lastName, forKey: .lastName)
    try container.encode(emails, forKey: .emails)
    try container.encodeIfPresent(company?.name, forKey: .company)
  }
}

@Model
final class Company {
  #Unique<Company>([\.name])
  var name: String
  var employees: [Contact] = []
  init(name: String) { self.name = name }
}

extension Contact: CustomStringConvertible {
  var description: String { fullName }
}

@Suite("Contacts that are Codable and have an id of their own")
struct ContactsProgram {
  let json = """
    [{"id": "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "firstName": "Ada", "lastName": "Lovelace",
      "emails": ["ada@example.com"], "company": "Engines"},
     {"id": "E621E1F8-C36C-495A-93FC-0C247A3E6E60", "firstName": "Alan", "lastName": "Turing"}]
    """

  @Test("Contacts are decoded, stored, found by their id, and encoded")
  func coding() throws {
    let context = ModelContext(
      try ModelContainer(
        for: Contact.self, Company.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    let decoded = try JSONDecoder().decode([Contact].self, from: Data(json.utf8))
    for contact in decoded { context.insert(contact) }
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Company>()) == 1)
    let wanted = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!
    let ada = try #require(
      try context.fetch(FetchDescriptor<Contact>(predicate: #Predicate { $0.id == wanted })).first)
    #expect("\(ada)" == "Ada Lovelace")
    #expect(ada.company?.employees.first === ada)
    let again = try JSONDecoder().decode(Contact.self, from: JSONEncoder().encode(ada))
    #expect(again.fullName == ada.fullName && again.emails == ada.emails && again.modelContext == nil)
    let identifier = ada.persistentModelID
    let stored = try JSONDecoder().decode(
      PersistentIdentifier.self, from: JSONEncoder().encode(identifier))
    #expect(stored == identifier)
    #expect(context.model(for: stored) as? Contact === ada)
  }
}
