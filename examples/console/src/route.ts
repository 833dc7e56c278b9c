import { useEffect, useState } from 'preact/hooks'

/** The gateway's rule for ids. `.` and `..` in a path would lead to another path. */
const ID = /^(?!\.{1,2}$)[!-.0-~]{1,128}$/

/** Whether a text can be an id. It may come from a link that someone else made. */
export function isId(text: string): boolean {
  return ID.test(text)
}

type Query = Readonly<Record<string, string>>

/** What the part behind `#` names. It describes the whole view, so you can return to it and share it. */
export interface Route {
  /** A page. Empty for the first one. */
  readonly name: string
  /** A part of the page, or the id that it's about. */
  readonly part: string | undefined
  /** The search, the place in a list, the range. */
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

/** @param isReplacing replaces the entry in the browser's history, for example while a person types */
export function goTo(href: string, { isReplacing = false } = {}): void {
  if (isReplacing) location.replace(href)
  else location.hash = href
}

export function useRoute(): Route {
  return routeOf(useHash())
}

export function useHash(): string {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const look = (): void => setHash(location.hash)
    // The hash may have changed before the listener was added.
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
