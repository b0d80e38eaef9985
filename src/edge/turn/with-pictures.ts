import { inlineAttachments } from '../../inline-attachments.ts'
import { readAttachment } from '../../operations/attachments.ts'
import type { SessionBase } from '../../ports/memory.ts'
import type { Model } from '../../ports/model.ts'

/** A model that is shown the pictures of a session, whose log only names them. */
export function withPictures(model: Model, session: SessionBase): Model {
  return {
    id: model.id,
    async *complete(request) {
      const context = await inlineAttachments(request.context, (ref) => readAttachment(session, ref))
      yield* model.complete({ ...request, context })
    },
  }
}
