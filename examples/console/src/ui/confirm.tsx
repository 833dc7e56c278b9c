import type { ComponentChildren, JSX } from 'preact'
import { useWords } from '../words/words.ts'
import { Dialog } from './dialog.tsx'
import { ErrorNotice } from './notice.tsx'
import { useAction } from './use-action.ts'

interface ConfirmProps {
  readonly title: string
  /** The consequences. */
  readonly about: string
  /** The label of the button that confirms. */
  readonly yes: string
  /** Whether it can be undone easily. */
  readonly isHarmless?: boolean
  /** Runs on confirmation. If it fails, the dialog shows the error and stays open. */
  act(): void | Promise<void>
  onClose(): void
  /** Details, below the consequences. */
  readonly children?: ComponentChildren
}

export function Confirm(props: ConfirmProps): JSX.Element {
  const { title, about, yes, isHarmless = false, act, onClose, children } = props
  const words = useWords()
  const { isBusy, error, run } = useAction()
  const confirm = async (): Promise<void> => {
    if (await run(async () => act())) onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{about}</p>
      {children}
      <ErrorNotice error={error} />
      <p class="buttons">
        <button
          type="button"
          class={isHarmless ? 'primary' : 'danger'}
          disabled={isBusy}
          onClick={() => void confirm()}
        >
          {yes}
        </button>
        <button type="button" onClick={onClose}>
          {words.cancel}
        </button>
      </p>
    </Dialog>
  )
}
