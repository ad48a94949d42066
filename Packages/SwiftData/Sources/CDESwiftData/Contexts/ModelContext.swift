/// Registers and saves models.
nonisolated public class ModelContext {}
