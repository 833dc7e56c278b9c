import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Extra } from './extras/extra.ts'
import { Navigation } from './navigation.tsx'
import { pages as specified } from './pages/index.ts'
import { type ConsolePage, inOrder, pageAt } from './pages/page.ts'
import { isId, type Route, useRoute } from './route.ts'
import { useExtras } from './session.ts'
import { useUnsaved } from './ui/use-draft.ts'
import { useTitle } from './ui/use-title.ts'
import { type Speech, useSpeech } from './words/words.ts'

/**
 * Shows the gateway's pages. Their forms keep their input while another page is open.
 *
 * @param known all extras
 */
export function SignedIn({ known }: { known: readonly Extra[] }): JSX.Element {
  const extras = useExtras()
  const speech = useSpeech()
  const pages = useMemo(() => inOrder([...specified, ...extras.flatMap((extra) => extra.pages)]), [extras])
  const given = useRoute()
  const route = given.name === '' ? { ...given, name: pages[0]?.path ?? '' } : given
  const page = route.part === undefined || isId(route.part) ? pageAt(pages, route) : undefined
  const unsaved = useUnsaved()
  useWarningOf(unsaved.length > 0)
  useTitle(...titlesOf(speech, page, route))
  const main = useFocusOnNewPage(`${route.name}/${route.part ?? ''}`)

  return (
    <div class="frame">
      <Navigation pages={pages} current={page?.path} unsaved={unsaved} />
      <main id="content" tabIndex={-1} ref={main}>
        {page === undefined ? <Missing route={route} known={known} /> : <page.Page key={page.path} route={route} />}
      </main>
    </div>
  )
}

/** The titles of a page, the most specific first. */
function titlesOf({ words, language }: Speech, page: ConsolePage | undefined, { name, part }: Route): string[] {
  if (page === undefined) return [words.notFound]
  return part === undefined || page.path !== name ? [page.labels[language]] : [part, page.labels[language]]
}

/** For an address without a page: it belongs to an extra that this gateway doesn't run, or to nothing. */
function Missing({ route, known }: { route: Route; known: readonly Extra[] }): JSX.Element {
  const { words, language } = useSpeech()
  const extra = known.find(({ pages }) => pageAt(pages, route))
  const page = extra === undefined ? undefined : pageAt(extra.pages, route)
  if (page === undefined || extra?.name === undefined) return <p class="empty">{words.notFound}</p>
  return (
    <>
      <h1>{words.notRunning(page.labels[language])}</h1>
      <p>{words.turnOn(extra.name)}</p>
    </>
  )
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
