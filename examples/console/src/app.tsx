import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { Header } from './header.tsx'
import { prefer, preferenceOf } from './preferences.ts'
import { type Session, SessionContext } from './session.ts'
import { SignIn } from './sign-in.tsx'
import { SignedIn } from './signed-in.tsx'
import { LANGUAGES, type Language, preferredLanguage, SpeechContext, speechOf } from './words/words.ts'

/** The console: signing in, and then the pages. */
export function App(): JSX.Element {
  const [language, setLanguage] = useLanguage()
  const speech = useMemo(() => speechOf(language), [language])
  const [session, setSession] = useState<Session>()
  const [hasEnded, setEnded] = useState(false)

  useEffect(() => {
    document.documentElement.lang = language
    document.title = speech.words.title
  }, [language, speech])

  const end = (): void => {
    setSession(undefined)
    setEnded(true)
  }

  return (
    <SpeechContext.Provider value={speech}>
      <SessionContext.Provider value={session}>
        <Header language={language} onLanguage={setLanguage} isSignedIn={session !== undefined} />
        {session === undefined ? <SignIn hasEnded={hasEnded} onSignedIn={setSession} onEnded={end} /> : <SignedIn />}
      </SessionContext.Provider>
    </SpeechContext.Provider>
  )
}

function useLanguage(): readonly [Language, (language: Language) => void] {
  const [language, setLanguage] = useState<Language>(() => {
    return LANGUAGES.find((each) => each === preferenceOf('language')) ?? preferredLanguage(navigator.languages)
  })
  return [
    language,
    (next) => {
      prefer('language', next)
      setLanguage(next)
    },
  ]
}
