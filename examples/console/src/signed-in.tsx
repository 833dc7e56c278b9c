import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { AlertsPage } from './alerts/alerts-page.tsx'
import { AuditPage } from './audit/audit-page.tsx'
import { CredentialsPage } from './credentials/credentials-page.tsx'
import { ErrorsPage } from './errors/errors-page.tsx'
import { HistoryPage } from './history/history-page.tsx'
import { Navigation } from './navigation.tsx'
import { OverviewPage } from './overview/overview-page.tsx'
import { HISTORY, type Route, useRoute } from './route.ts'
import { SettingsPage } from './settings/settings-page.tsx'
import { useUnsaved } from './ui/use-draft.ts'
import { useTitle } from './ui/use-title.ts'
import { UserPage } from './users/user-page.tsx'
import { UsersPage } from './users/users-page.tsx'
import { WhyPage } from './why/why-page.tsx'
import type { Words } from './words/en.ts'
import { useWords } from './words/words.ts'

/** The pages. What was typed into their forms is kept while others are looked at. */
export function SignedIn(): JSX.Element {
  const words = useWords()
  const route = useRoute()
  const { page, part } = route
  const unsaved = useUnsaved()
  useWarningOf(unsaved.length > 0)
  useTitle(...titlesOf(words, route))
  const main = useFocusOnNewPage(`${page}/${part ?? ''}`)

  return (
    <div class="frame">
      <Navigation page={page} unsaved={unsaved} />
      <main id="content" tabIndex={-1} ref={main}>
        <Page route={route} />
      </main>
    </div>
  )
}

/** What a page is called, the smallest part first. */
function titlesOf({ nav, notFound, history }: Words, { page, part }: Route): string[] {
  if (page === 'unknown') return [notFound]
  if (page === 'settings' && part === HISTORY) return [history.title]
  return part === undefined ? [nav[page]] : [part, nav[page]]
}

function Page({ route: { page, part, userId } }: { route: Route }): JSX.Element {
  const words = useWords()
  switch (page) {
    case 'overview':
      return <OverviewPage />
    case 'settings':
      return part === HISTORY ? <HistoryPage /> : <SettingsPage />
    case 'users':
      return userId === undefined ? <UsersPage /> : <UserPage key={userId} id={userId} />
    case 'why':
      return <WhyPage />
    case 'alerts':
      return <AlertsPage />
    case 'errors':
      return <ErrorsPage />
    case 'credentials':
      return <CredentialsPage />
    case 'audit':
      return <AuditPage />
    case 'unknown':
      return <p class="empty">{words.notFound}</p>
  }
}

/** Asks before the document is left with unsaved changes. */
function useWarningOf(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return
    const ask = (event: Event): void => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isDirty])
}

/**
 * Moves the focus to a new page, as with a new document, for users of a keyboard or a screen reader: before it is
 * painted, so that no key pressed on the visible page still goes to the previous one.
 */
function useFocusOnNewPage(name: string): { current: HTMLElement | null } {
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  useLayoutEffect(() => {
    if (!isFirst.current) {
      main.current?.focus({ preventScroll: true })
      scrollTo(0, 0)
    }
    isFirst.current = false
  }, [name])
  return main
}
