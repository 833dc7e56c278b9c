import { useEffect, useState } from 'preact/hooks'

export const PAGES = ['overview', 'settings', 'users', 'errors', 'credentials', 'audit'] as const
export type PageName = (typeof PAGES)[number]

/** What the address names behind its `#`. */
export interface Route {
  readonly page: PageName | 'unknown'
  /** Of the page of one user. */
  readonly userId: string | undefined
}

function routeOf(hash: string): Route {
  const [name = '', id] = hash.replace(/^#\/?/, '').split('/')
  if (name === '') return { page: 'overview', userId: undefined }
  const page = PAGES.find((each) => each === name) ?? 'unknown'
  return { page, userId: page === 'users' && id !== undefined ? decoded(id) : undefined }
}

export function hrefOf(page: PageName, userId?: string): string {
  return userId === undefined ? `#/${page}` : `#/${page}/${encodeURIComponent(userId)}`
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const look = (): void => setHash(location.hash)
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [])
  return routeOf(hash)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
