import type { JSX } from 'preact'
import { FindUser } from './find-user.tsx'
import { THEMES, type Theme, useTheme } from './preferences.ts'
import { BrandMark } from './ui/icon.tsx'
import { LANGUAGES, type Language, speechOf, useWords } from './words/words.ts'

interface HeaderProps {
  readonly language: Language
  onLanguage(language: Language): void
  readonly isSignedIn: boolean
}

export function Header({ language, onLanguage, isSignedIn }: HeaderProps): JSX.Element {
  const words = useWords()
  const [theme, setTheme] = useTheme()
  return (
    <header class="top">
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        {words.skip}
      </button>
      <span class="brand">
        <BrandMark />
        {words.title} <span class="quiet">{words.console}</span>
      </span>
      {isSignedIn && <FindUser />}
      <select
        aria-label={words.language}
        value={language}
        onChange={(event) => onLanguage(event.currentTarget.value as Language)}
      >
        {LANGUAGES.map((each) => (
          <option key={each} value={each}>
            {speechOf(each).words.languageName}
          </option>
        ))}
      </select>
      <select
        aria-label={words.theme.label}
        value={theme}
        onChange={(event) => setTheme(event.currentTarget.value as Theme)}
      >
        {THEMES.map((each) => (
          <option key={each} value={each}>
            {words.theme[each]}
          </option>
        ))}
      </select>
      {isSignedIn && (
        // A reload drops everything in memory: the token, and all data loaded with it.
        <button type="button" onClick={() => location.reload()}>
          {words.signOut}
        </button>
      )}
    </header>
  )
}
