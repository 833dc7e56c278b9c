import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { Api } from './api/api.ts'
import { Drafts } from './drafts.ts'
import { Header } from './header.tsx'
import { prefer, preferenceOf } from './preferences.ts'
import { type Session, SessionContext } from './session.ts'
import { SignIn, SignInAgain } from './sign-in.tsx'
import { SignedIn } from './signed-in.tsx'
import { LANGUAGES, type Language, preferredLanguage, SpeechContext, speechOf } from './words/words.ts'

export function App(): JSX.Element {
  const [language, setLanguage] = useLanguage()
  const speech = useMemo(() => speechOf(language), [language])
  const [session, setSession] = useState<Session>()
  const [hasEnded, setEnded] = useState(false)

  useEffect(() => {
    document.documentElement.lang = language
  }, [language])

  return (
    <SpeechContext.Provider value={speech}>
      <SessionContext.Provider value={session}>
        <Header language={language} onLanguage={setLanguage} isSignedIn={session !== undefined} />
        {session === undefined ? (
          <SignIn
            onSignedIn={(token) => setSession({ api: new Api(token, () => setEnded(true)), drafts: new Drafts() })}
          />
        ) : (
          <SignedIn />
        )}
        {session !== undefined && hasEnded && (
          <SignInAgain
            onSignedIn={(token) => {
              session.api.renew(token)
              setEnded(false)
            }}
          />
        )}
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
