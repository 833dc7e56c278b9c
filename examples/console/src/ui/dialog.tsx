import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  readonly isWide?: boolean
  onClose(): void
  readonly children: ComponentChildren
}

/** A dialog over the page. The browser keeps the focus in it, gives it back, and closes it with Escape. */
export function Dialog({ title, isWide = false, onClose, children }: DialogProps): JSX.Element {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    return () => shown?.close()
  }, [])
  return (
    <dialog ref={dialog} class={isWide ? 'wide' : ''} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}
