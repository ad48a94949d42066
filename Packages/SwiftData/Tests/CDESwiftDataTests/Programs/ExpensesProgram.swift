import CDESwiftData
import Testing

@Model
final class Expense {
  var amount: Decimal
  var currency: Locale.Currency? = nil
  var date: Date
  var note: String?
  var category: ExpenseCategory?
  @Relationship(deleteRule: .cascade) var receipt: Receipt?

  init(_ amount: Decimal, on date: Date, category: ExpenseCategory? = nil) {
    self.amount = amount
    self.date = date
    self.category = category
  }
}

@Model
final class ExpenseCategory {
  @Attribute(.unique, originalName: "title") var name: String
  var color: Color = Color(red: 0, green: 0, blue: 0)
  @Relationship(deleteRule: .nullify, inverse: \Expense.category) var expenses: [Expense] = []

  struct Color: Codable, Equatable { var red, green, blue: Double }

  init(name: String) { self.name = name }

  var total: Decimal { expenses.reduce(0) { $0 + $1.amount } }
}

@Model
final class Receipt {
  @Attribute(.externalStorage) var image: Data
  @Relationship(inverse: \Expense.receipt) var expense: Expense?

  init(image: Data) { self.image = image }
}

@Suite("Expenses")
struct ExpensesProgram {
  @Test("Totals are exact, and a deleted category leaves its expenses")
  func totals() throws {
    let container = try ModelContainer(
      for: Expense.self, ExpenseCategory.self, Receipt.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let food = ExpenseCategory(name: "Food")
    context.insert(food)
    for _ in 0..<10 { food.expenses.append(Expense(Decimal(string: "0.10")!, on: .now)) }
    let rent = Expense(750, on: .now)
    context.insert(rent)
    rent.receipt = Receipt(image: Data(repeating: 9, count: 200_000))
    try context.save()
    #expect(food.total == 1)
    #expect(food.color == .init(red: 0, green: 0, blue: 0))
    let limit = Decimal(500)
    let dear = try context.fetch(FetchDescriptor<Expense>(predicate: #Predicate { $0.amount > limit }))
    #expect(dear.first?.receipt?.image.count == 200_000)
    let inFood = #Predicate<Expense> { $0.category?.name == "Food" }
    #expect(try context.fetchCount(FetchDescriptor(predicate: inFood)) == 10)
    context.delete(food)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Expense>()) == 11)
    #expect(
      try context.fetchCount(FetchDescriptor<Expense>(predicate: #Predicate { $0.category == nil })) == 11)
    context.delete(rent)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Receipt>()) == 0)
  }
}
