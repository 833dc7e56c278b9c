/** What a person prefers, kept over visits. Never holds anything about a session. */
const PREFIX = 'score-gateway-console.'

export type Preference = 'language' | 'theme'

export function preferenceOf(name: Preference): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined
  } catch {
    // The browser keeps nothing for this page.
    return undefined
  }
}

export function prefer(name: Preference, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value)
  } catch {
    // Then it holds for this visit.
  }
}
