import { useEffect, useState } from 'preact/hooks'

/** As the gateway has ids; a part of a path that is `.` or `..` would lead to another path. */
const ID = /^(?!\.{1,2}$)[!-.0-~]{1,128}$/

/** Whether a text can be an id: it may come from someone else's link. */
export function isId(text: string): boolean {
  return ID.test(text)
}

type Query = Readonly<Record<string, string>>

/** What the address names behind its `#`: whatever is checked, so that it can be come back to and passed on. */
export interface Route {
  /** Of a page; empty: the first one. */
  readonly name: string
  /** The part of the page, or what it is about. */
  readonly part: string | undefined
  /** Search, place in a list, range. */
  readonly query: Query
}

function routeOf(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const [name = '', encoded] = path.split('/')
  const query = Object.fromEntries(new URLSearchParams(search))
  const part = encoded === undefined || encoded === '' ? undefined : decoded(encoded)
  return { name, part, query }
}

/** @param query empty values are left out */
export function hrefOf(page: string, part?: string, query: Query = {}): string {
  const path = part === undefined ? `#/${page}` : `#/${page}/${encodeURIComponent(part)}`
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString()
  return search === '' ? path : `${path}?${search}`
}

/** @param isReplacing replaces the entry of the browser's history: while a person types, for example */
export function goTo(href: string, { isReplacing = false } = {}): void {
  if (isReplacing) location.replace(href)
  else location.hash = href
}

export function useRoute(): Route {
  return routeOf(useHash())
}

/** The address behind the page's own, as it is. */
export function useHash(): string {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const look = (): void => setHash(location.hash)
    // It may have changed before the listener was added.
    look()
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [])
  return hash
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
