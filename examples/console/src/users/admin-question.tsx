import type { JSX } from 'preact'
import { Dialog } from '../ui/dialog.tsx'
import { useWords } from '../words/words.ts'

interface QuestionProps {
  readonly id: string
  /** What is about to happen to the role. */
  readonly kind: 'give' | 'take'
  onYes(): void
  onNo(): void
}

/** An administrator can do everything at once, also take the role of whoever gave it. */
export function AdminQuestion({ id, kind, onYes, onNo }: QuestionProps): JSX.Element {
  const words = useWords()
  const { title, about, yes } = words.users.adminQuestion[kind]
  return (
    <Dialog title={title(id)} onClose={onNo}>
      <p>{about}</p>
      <p class="buttons">
        <button type="button" class="danger" onClick={onYes}>
          {yes}
        </button>
        <button type="button" onClick={onNo}>
          {words.cancel}
        </button>
      </p>
    </Dialog>
  )
}
