"""The public names and their modules: read by type checkers and editors, and by ``__init__.py``."""

from adbench_text.calibration import p_values as p_values
from adbench_text.contract.cleaner import Cleaner as Cleaner
from adbench_text.contract.dataset import Dataset as Dataset
from adbench_text.contract.dataset import Documents as Documents
from adbench_text.contract.dataset import Edition as Edition
from adbench_text.contract.detector import TextDetector as TextDetector
from adbench_text.contract.vector_detector import VectorDetector as VectorDetector
from adbench_text.detectors.cvdd import CVDD as CVDD
from adbench_text.detectors.date import DATE as DATE
from adbench_text.detectors.ensemble import Ensemble as Ensemble
from adbench_text.detectors.form import Form as Form
from adbench_text.detectors.iforest import IForest as IForest
from adbench_text.detectors.knn_vectors import KNNVectors as KNNVectors
from adbench_text.detectors.knn_words import KNNWords as KNNWords
from adbench_text.detectors.llr import LLR as LLR
from adbench_text.detectors.ngrams import NGrams as NGrams
from adbench_text.detectors.ocsvm import OCSVM as OCSVM
from adbench_text.documents.fitting import fit_model as fit_model
from adbench_text.documents.growth import grown_groups as grown_groups
from adbench_text.documents.models.folder import load_model as load_model
from adbench_text.documents.models.folder import save_model as save_model
from adbench_text.documents.models.model import Model as Model
from adbench_text.documents.models.model import Scorer as Scorer
from adbench_text.documents.ranking import odd_documents as odd_documents
from adbench_text.plugins.configure import detector as detector
from adbench_text.reports.measured import results as results
from adbench_text.reports.measured import scores as scores

__version__: str
