import { useTexts } from '../../words/words.ts'

const en = {
  title: 'History of limits',
  back: 'Limits',
  about: 'Every change to everyone’s limits, newest first. You can undo each one separately. Later changes stay.',
  list: 'Changes to limits',
  empty: 'No changes yet. The defaults are in effect.',
  by: (who: string, when: string) => `${who}, ${when}`,
  newest: 'newest',
  nothing: 'Nothing in effect changed.',
  undo: 'Undo ...',
  undoOf: (number: string) => `Undo change ${number}`,
  undoTitle: 'Undo this change?',
  undoAbout: 'The selected values go back to what they were. This is a new change, so you can undo it too.',
  done: 'already restored',
  later: 'changed again since',
  undoSubmit: 'Undo',
  undone: 'Undone.',
  nothingLeft: 'All values are already as they were before this change.',
  changedMeanwhile: 'Someone else saved first. Check the current values below, then undo again.',
  all: 'all',
}

const zh: typeof en = {
  title: '限额的更改历史',
  back: '限额',
  about: '所有人限额的每次更改，最新的在前。每次更改都可以单独撤销，之后的更改不受影响。',
  list: '限额的更改',
  empty: '还没有更改，默认值生效。',
  by: (who, when) => `${who}，${when}`,
  newest: '最新',
  nothing: '没有更改生效的值。',
  undo: '撤销……',
  undoOf: (number) => `撤销更改 ${number}`,
  undoTitle: '撤销此更改？',
  undoAbout: '选中的值恢复为更改前的值。撤销也是一次更改，同样可以撤销。',
  done: '已恢复',
  later: '之后又有更改',
  undoSubmit: '撤销',
  undone: '已撤销。',
  nothingLeft: '所有值都已与此更改之前相同。',
  changedMeanwhile: '有人抢先保存了。请查看下面的当前值，再次撤销。',
  all: '全部',
}

export const texts = { en, 'zh-CN': zh }

export function useHistoryWords(): typeof en {
  return useTexts(texts)
}
