import { useEffect, useLayoutEffect, useState } from 'preact/hooks'

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

export const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** The chosen appearance. The style sheet follows the document's attribute, or the system if there is none. */
export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(() => {
    return THEMES.find((each) => each === preferenceOf('theme')) ?? 'auto'
  })
  useLayoutEffect(() => {
    if (theme === 'auto') document.documentElement.removeAttribute('data-theme')
    else document.documentElement.dataset.theme = theme
  }, [theme])
  return [
    theme,
    (next) => {
      prefer('theme', next)
      setTheme(next)
    },
  ]
}

const DARK = '(prefers-color-scheme: dark)'

/** Changes with the colours. Canvases need it because they don't follow the style sheet. */
export function useColorScheme(): string {
  const read = (): string => document.documentElement.dataset.theme ?? (matchMedia(DARK).matches ? 'dark' : 'light')
  const [scheme, setScheme] = useState(read)
  useEffect(() => {
    const look = (): void => setScheme(read())
    const observer = new MutationObserver(look)
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    const query = matchMedia(DARK)
    query.addEventListener('change', look)
    return () => {
      observer.disconnect()
      query.removeEventListener('change', look)
    }
  }, [])
  return scheme
}
