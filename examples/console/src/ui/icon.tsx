import type { JSX } from 'preact'
import type { PageName } from '../route.ts'

/** Lines in a square of 16. */
const PATHS: Readonly<Record<PageName, string>> = {
  overview: 'M2 13h12M4 13V8m4 5V3m4 10V6',
  settings: 'M2 4h6m4 0h2M2 8h1m4 0h7M2 12h7m4 0h1M10 2.5v3M5 6.5v3m6 1v3',
  users: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14a5.5 5.5 0 0 1 11 0',
  why: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM3.8 3.8l8.4 8.4',
  errors: 'M8 2l6.5 11.5h-13zM8 6.5v3m0 1.8v.4',
  alerts: 'M3.5 11.5h9l-1-1.7V7a3.5 3.5 0 0 0-7 0v2.8zM6.7 13.8h2.6',
  credentials: 'M5 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM7.2 7.8L13 2m-2 2l2 2',
  audit: 'M4 2h8v12H4zM6.2 5.2h3.6M6.2 8h3.6M6.2 10.8h2',
}

/** Stands beside a page's name, which says the same. */
export function Icon({ of }: { of: PageName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[of]} />
    </svg>
  )
}

/** The mark of the console: bars under a limit. */
export function BrandMark(): JSX.Element {
  return (
    <svg class="brand-mark" viewBox="0 0 16 16" aria-hidden="true">
      <rect width="16" height="16" rx="3" />
      <path d="M3 12V7h2v5zm4 0V3h2v9zm4 0V9h2v3z" />
    </svg>
  )
}
