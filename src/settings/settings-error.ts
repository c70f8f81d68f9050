/** The settings are wrong. Each problem is a sentence that names the setting, where it was given, and what is allowed. */
export class SettingsError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'SettingsError'
    this.problems = problems
  }
}
