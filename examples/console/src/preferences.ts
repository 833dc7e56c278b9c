/** Preferences that survive a visit. Nothing about the session is stored. */
const PREFIX = 'score-gateway-console.'

export type Preference = 'language' | 'theme'

export function preferenceOf(name: Preference): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined
  } catch {
    // Storage is blocked for this page.
    return undefined
  }
}

export function prefer(name: Preference, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value)
  } catch {
    // Then the choice lasts for this visit.
  }
}
