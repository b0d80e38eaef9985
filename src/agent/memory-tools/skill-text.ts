import { RECALLED } from '../../features/recall/recall-text.ts'

/** What the text of a skill begins with. It is the app's own, so it lowers no label. */
export const SKILL = `${RECALLED}, skill `
