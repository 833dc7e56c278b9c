import type { ComponentChildren, JSX } from 'preact'

interface ScrollProps {
  readonly label: string
  /** Higher than the screen: it scrolls in both directions and keeps its head in view. */
  readonly isTall?: boolean
  readonly children: ComponentChildren
}

/** Content that may be wider than the screen. Without a pointer, use the arrow keys. */
export function Scroll({ label, isTall = false, children }: ScrollProps): JSX.Element {
  return (
    // A group and no region: most of them have the name of the region that they are in.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for input.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling part has to be reachable by keyboard.
    <div role="group" class={isTall ? 'scroll tall' : 'scroll'} aria-label={label} tabIndex={0}>
      {children}
    </div>
  )
}
