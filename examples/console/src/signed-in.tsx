import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Navigation } from './navigation.tsx'
import { pages } from './pages/index.ts'
import { isId, type Route, useRoute } from './route.ts'
import { useTitle } from './ui/hooks.ts'
import { useUnsaved } from './ui/use-draft.ts'
import { type Speech, useSpeech } from './words/words.ts'

/** Shows the gateway's pages. Their forms keep their input while another page is open. */
export function SignedIn(): JSX.Element {
  const speech = useSpeech()
  const given = useRoute()
  const route = given.name === '' ? { ...given, name: pages[0]?.path ?? '' } : given
  const page = route.part === undefined || isId(route.part) ? pages.find(({ path }) => path === route.name) : undefined
  const unsaved = useUnsaved()
  useWarningOf(unsaved.length > 0)
  useTitle(...titlesOf(speech, page, route))
  const main = useFocusOnNewPage(`${route.name}/${route.part ?? ''}`)

  return (
    <div class="frame">
      <Navigation current={page?.path} unsaved={unsaved} />
      <main id="content" tabIndex={-1} ref={main}>
        {page === undefined ? <h1>{speech.words.notFound}</h1> : <page.Page key={page.path} route={route} />}
      </main>
    </div>
  )
}

/** The titles of a page, the most specific first. */
function titlesOf({ words, language }: Speech, page: (typeof pages)[number] | undefined, { part }: Route): string[] {
  if (page === undefined) return [words.notFound]
  return part === undefined ? [page.labels[language]] : [part, page.labels[language]]
}

/** Makes the browser ask before a person leaves with unsaved changes. */
function useWarningOf(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return
    const ask = (event: Event): void => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isDirty])
}

/**
 * Moves the focus to a new page, as a browser does with a new document. This is for keyboards and screen readers. It
 * happens before the page is painted, so no key goes to the previous page.
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
