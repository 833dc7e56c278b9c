import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  readonly isWide?: boolean
  /** Only its own controls close it. */
  readonly isRequired?: boolean
  onClose(): void
  readonly children: ComponentChildren
}

/** A dialog over the page. The browser keeps the focus in it and restores it afterwards. */
export function Dialog({ title, isWide = false, isRequired = false, onClose, children }: DialogProps): JSX.Element {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    const shown = dialog.current
    shown?.showModal()
    return () => {
      shown?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  const cancel = (event: Event): void => {
    event.preventDefault()
    if (!isRequired) onClose()
  }
  // The browser may close the dialog. This event comes late, so a removed dialog has already reported it.
  const closed = (): void => {
    if (dialog.current === null) return
    if (isRequired) dialog.current.showModal()
    else onClose()
  }
  return (
    <dialog ref={dialog} class={isWide ? 'wide' : ''} aria-labelledby={id} onCancel={cancel} onClose={closed}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}
