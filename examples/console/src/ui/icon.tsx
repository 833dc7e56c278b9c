import type { JSX } from 'preact'

/**
 * Decorates a page's name, so screen readers skip it.
 *
 * @param strokes in a square of 16
 */
export function Icon({ strokes }: { strokes: string }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={strokes} />
    </svg>
  )
}

export function BrandMark(): JSX.Element {
  return (
    <svg class="brand-mark" viewBox="0 0 16 16" aria-hidden="true">
      <rect width="16" height="16" rx="3" />
      <path d="M3 12V7h2v5zm4 0V3h2v9zm4 0V9h2v3z" />
    </svg>
  )
}
