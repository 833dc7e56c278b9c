import type { JSX } from 'preact'
import type { ApiError } from '../api/api-error.ts'
import { useWords } from '../words/words.ts'
import { Dialog } from './dialog.tsx'
import { ErrorNotice } from './notice.tsx'

interface QuestionProps {
  readonly title: string
  /** What comes of it. */
  readonly about: string
  /** The label of the button that confirms. */
  readonly yes: string
  /** Whether it cannot be undone easily. */
  readonly isDangerous: boolean
  readonly isBusy?: boolean
  /** Why it was not done. */
  readonly error?: ApiError | undefined
  onYes(): unknown
  onNo(): void
}

/** Asked before something is done. */
export function Question(props: QuestionProps): JSX.Element {
  const { title, about, yes, isDangerous, isBusy = false, error, onYes, onNo } = props
  const words = useWords()
  return (
    <Dialog title={title} onClose={onNo}>
      <p>{about}</p>
      <ErrorNotice error={error} />
      <p class="buttons">
        <button type="button" class={isDangerous ? 'danger' : 'primary'} disabled={isBusy} onClick={() => void onYes()}>
          {yes}
        </button>
        <button type="button" onClick={onNo}>
          {words.cancel}
        </button>
      </p>
    </Dialog>
  )
}
