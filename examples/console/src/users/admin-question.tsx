import type { JSX } from 'preact'
import { Question } from '../ui/question.tsx'
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
  const { title, about, yes } = useWords().users.adminQuestion[kind]
  return <Question title={title(id)} about={about} yes={yes} isDangerous onYes={onYes} onNo={onNo} />
}
