import { useTexts } from '../../words/words.ts'

const en = {
  title: 'History of the limits',
  back: 'Limits',
  about:
    'Every change of everybody’s limits, the newest first. Each can be undone on its own: later changes by others stay.',
  list: 'Changes of the limits',
  empty: 'No changes yet: the defaults are in force.',
  by: (who: string, when: string) => `${who}, ${when}`,
  newest: 'newest',
  nothing: 'nothing that is in force',
  undo: 'Undo ...',
  undoOf: (number: string) => `Undo change ${number}`,
  undoTitle: 'Undo this change',
  undoAbout: 'The selected values become what they were before. This is a new change, which can be undone as well.',
  part: 'What',
  now: 'Now',
  becomes: 'Becomes',
  done: 'already so',
  later: 'changed again since',
  undoSubmit: 'Undo',
  undone: 'Undone.',
  nothingLeft: 'Everything is as it was before this change already.',
  changedMeanwhile: 'Someone else saved first. These are the stored values now: check again.',
  all: 'all',
}

const zh: typeof en = {
  title: '配额的更改历史',
  back: '配额',
  about: '对所有人配额的每次更改，最新的在前。每次更改都可单独撤销，此后他人所做的更改不受影响。',
  list: '配额的更改',
  empty: '还没有任何更改：默认值生效。',
  by: (who, when) => `${who}，${when}`,
  newest: '最新',
  nothing: '没有改变生效的内容',
  undo: '撤销……',
  undoOf: (number) => `撤销更改 ${number}`,
  undoTitle: '撤销此更改',
  undoAbout: '勾选的项目会恢复为更改前的值。撤销本身也是一次更改，同样可以撤销。',
  part: '项目',
  now: '当前值',
  becomes: '恢复为',
  done: '已经如此',
  later: '此后又被更改',
  undoSubmit: '撤销',
  undone: '已撤销。',
  nothingLeft: '一切都已与此更改之前相同。',
  changedMeanwhile: '有人抢先保存了。以下为现在保存的内容，请重新确认。',
  all: '全部',
}

export const texts = { en, 'zh-CN': zh }

export function useHistoryWords(): typeof en {
  return useTexts(texts)
}
