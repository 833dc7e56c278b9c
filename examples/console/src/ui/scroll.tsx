import type { ComponentChildren, JSX } from 'preact'

interface ScrollProps {
  readonly label: string
  /** Higher than the screen: scrolls in both directions, and keeps its head in view. */
  readonly isTall?: boolean
  readonly children: ComponentChildren
}

/** Something that may be wider than the screen. Whoever has no pointer scrolls it with the arrow keys. */
export function Scroll({ label, isTall = false, children }: ScrollProps): JSX.Element {
  return (
    // A group and no region: most of them have the name of the region that they are in.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is filled in.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
    <div role="group" class={isTall ? 'scroll tall' : 'scroll'} aria-label={label} tabIndex={0}>
      {children}
    </div>
  )
}
