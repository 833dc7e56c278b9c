import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Settings } from './api/documents.ts'
import { AuditPage } from './audit/audit-page.tsx'
import { CredentialsPage } from './credentials/credentials-page.tsx'
import { ErrorsPage } from './errors/errors-page.tsx'
import { OverviewPage } from './overview/overview-page.tsx'
import { hrefOf, PAGES, type Route, useRoute } from './route.ts'
import { useApi, usePolicy } from './session.ts'
import { readSettings, settingsFields } from './settings/fields.ts'
import { SettingsPage } from './settings/settings-page.tsx'
import type { Editor } from './ui/use-editor.ts'
import { useEditor } from './ui/use-editor.ts'
import { UserPage } from './users/user-page.tsx'
import { UsersPage } from './users/users-page.tsx'
import { useWords } from './words/words.ts'

/** The pages. What was typed into the limits is kept while others are looked at. */
export function SignedIn(): JSX.Element {
  const words = useWords()
  const api = useApi()
  const policy = usePolicy()
  const route = useRoute()
  const settings = useEditor(
    {
      load: () => api.settings(),
      store: (body: Settings, etag) => api.replaceSettings(body, etag),
      toFields: (document) => settingsFields(policy, document),
      read: (fields) => readSettings(policy, fields),
      notInForce: ({ faults = [] }) => faults,
    },
    [api, policy],
  )
  const isDirty = settings.changed.length > 0
  useWarningOf(isDirty)
  const main = useFocusOnNewPage(`${route.page}/${route.userId ?? ''}`)

  return (
    <div class="frame">
      <nav class="pages" aria-label={words.nav.label}>
        <ul>
          {PAGES.map((page) => (
            <li key={page}>
              <a href={hrefOf(page)} aria-current={page === route.page ? 'page' : undefined}>
                {words.nav[page]}
                {page === 'settings' && isDirty && <span class="dot" role="img" aria-label={words.nav.unsaved} />}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1} ref={main}>
        <Page route={route} settings={settings} />
      </main>
    </div>
  )
}

function Page({ route: { page, userId }, settings }: { route: Route; settings: Editor }): JSX.Element {
  const words = useWords()
  switch (page) {
    case 'overview':
      return <OverviewPage />
    case 'settings':
      return <SettingsPage editor={settings} />
    case 'users':
      return userId === undefined ? <UsersPage /> : <UserPage key={userId} id={userId} />
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

/** Leaving the document with unsaved changes is asked about. */
function useWarningOf(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return
    const ask = (event: Event): void => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isDirty])
}

/** Whoever uses a keyboard or a screen reader is brought to a page that is new, as with a new document. */
function useFocusOnNewPage(name: string): { current: HTMLElement | null } {
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current) {
      main.current?.focus({ preventScroll: true })
      scrollTo(0, 0)
    }
    isFirst.current = false
  }, [name])
  return main
}
