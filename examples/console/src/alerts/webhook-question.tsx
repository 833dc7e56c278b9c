import type { JSX } from 'preact'
import { Dialog } from '../ui/dialog.tsx'
import { useWords } from '../words/words.ts'

interface QuestionProps {
  readonly of: 'rotate' | 'remove'
  readonly isBusy: boolean
  onYes(): Promise<void>
  onNo(): void
}

/** Asked before receivers would have to be told something, or hear nothing any more. */
export function WebhookQuestion({ of, isBusy, onYes, onNo }: QuestionProps): JSX.Element {
  const words = useWords()
  const { alerts } = words
  return (
    <Dialog title={of === 'rotate' ? alerts.rotateTitle : alerts.removeTitle} onClose={onNo}>
      <p>{of === 'rotate' ? alerts.rotateAbout : alerts.removeAbout}</p>
      <p class="buttons">
        <button
          type="button"
          class={of === 'rotate' ? 'primary' : 'danger'}
          disabled={isBusy}
          onClick={() => void onYes()}
        >
          {alerts[of]}
        </button>
        <button type="button" onClick={onNo}>
          {words.cancel}
        </button>
      </p>
    </Dialog>
  )
}
