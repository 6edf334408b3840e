"""Names of the file formats, as stored in the `__metadata__` of each file."""

MODEL = "boostkmeans-model"
QUANTIZER = "boostkmeans-product-quantizer"
IMAGE_PIPELINE = "boostkmeans-image-pipeline"
DOCUMENT_MODEL = "boostkmeans-document-model"
