import type { JSX } from 'preact'
import { Question } from '../../ui/question.tsx'
import { useWords } from '../../words/words.ts'

interface QuestionProps {
  readonly id: string
  /** Whether the role is given or taken. */
  readonly kind: 'give' | 'take'
  onYes(): void
  onNo(): void
}

/** An administrator can do everything at once, also take the role from the one who gave it. */
export function AdminQuestion({ id, kind, onYes, onNo }: QuestionProps): JSX.Element {
  const { title, about, yes } = useWords().users.adminQuestion[kind]
  return <Question title={title(id)} about={about} yes={yes} isDangerous onYes={onYes} onNo={onNo} />
}
